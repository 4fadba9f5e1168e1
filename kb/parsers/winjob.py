"""A Windows Job object around one parser process: memory, CPU time, and death with its owner."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from kb.ports import ParseLimits

_PROCESS_TIME: Final = 0x0002
_PROCESS_MEMORY: Final = 0x0100
_DIE_ON_UNHANDLED: Final = 0x0400
_KILL_ON_CLOSE: Final = 0x2000
_EXTENDED_LIMITS: Final = 9
_MIB: Final = 1 << 20
_TICKS: Final = 10_000_000


def confine(process_handle: int, limits: ParseLimits) -> Callable[[], None]:
    """Put a process into a new job; the returned function closes the job and kills what is left.

    The handle belongs to this process, so a `kill` of it ends the parser as well. Where a job
    cannot be made (an old Windows inside another job), only time and output stay bounded. Field
    layout: JOBOBJECT_EXTENDED_LIMIT_INFORMATION of winnt.h.
    """
    if sys.platform != "win32":
        return _nothing
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    kernel.CreateJobObjectW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p]
    kernel.SetInformationJobObject.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_uint32,
    ]
    kernel.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    kernel.CloseHandle.argtypes = [ctypes.c_void_p]
    job = kernel.CreateJobObjectW(None, None)
    if not job:
        return _nothing
    info = _limit_information(limits)
    kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(info), ctypes.sizeof(info))
    kernel.AssignProcessToJobObject(job, process_handle)
    return lambda: kernel.CloseHandle(job)


def _nothing() -> None:
    """Close a job that was never made."""


def _limit_information(limits: ParseLimits) -> Any:
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
    basic.LimitFlags = _PROCESS_TIME | _PROCESS_MEMORY | _DIE_ON_UNHANDLED | _KILL_ON_CLOSE
    basic.PerProcessUserTimeLimit = int(limits.cpu_seconds * _TICKS)
    info.ProcessMemoryLimit = limits.memory_mb * _MIB
    return info
