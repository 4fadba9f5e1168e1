"""A Windows Job object around one parser process: its memory and CPU time."""

from __future__ import annotations

import sys
from typing import Any, Final

_PROCESS_TIME: Final = 0x0002
_PROCESS_MEMORY: Final = 0x0100
_DIE_ON_UNHANDLED: Final = 0x0400
_EXTENDED_LIMITS: Final = 9
_MIB: Final = 1 << 20
_TICKS: Final = 10_000_000


_job: Any = None
"""The handle of our job: never closed, so that the job lives as long as the process."""


def confine_self(cpu_seconds: float, memory_mb: int) -> None:
    """Put this process into a job of its own that bounds its memory and CPU time.

    A later call sets that job's limits anew. Where a job cannot be made, only wall time and output
    stay bounded. Layout: winnt.h, JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
    """
    if sys.platform != "win32":
        return
    global _job  # noqa: PLW0603 - a process has one
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    kernel.CreateJobObjectW.argtypes = [pointer, ctypes.c_wchar_p]
    kernel.SetInformationJobObject.argtypes = [pointer, ctypes.c_int, pointer, number]
    kernel.AssignProcessToJobObject.argtypes = [pointer, pointer]
    is_new = _job is None
    _job = kernel.CreateJobObjectW(None, None) if is_new else _job
    if _job:
        info = _limit_information(cpu_seconds, memory_mb)
        size = ctypes.sizeof(info)
        kernel.SetInformationJobObject(_job, _EXTENDED_LIMITS, ctypes.byref(info), size)
        if is_new:
            kernel.AssignProcessToJobObject(_job, kernel.GetCurrentProcess())


def _limit_information(cpu_seconds: float, memory_mb: int) -> Any:
    import ctypes

    class Basic(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", ctypes.c_uint32),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", ctypes.c_uint32),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", ctypes.c_uint32),
            ("SchedulingClass", ctypes.c_uint32),
        )

    class Extended(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", Basic),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    info = Extended()
    basic = info.BasicLimitInformation
    basic.LimitFlags = _PROCESS_TIME | _PROCESS_MEMORY | _DIE_ON_UNHANDLED
    basic.PerProcessUserTimeLimit = int(cpu_seconds * _TICKS)
    info.ProcessMemoryLimit = memory_mb * _MIB
    return info
