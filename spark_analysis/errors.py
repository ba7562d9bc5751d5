"""What can go wrong when a trace is analysed, and whose matter it is."""


class AnalysisError(Exception):
    """Anything that keeps an analysis from giving an answer. Its text says what, where and what to do."""


class NoJava(AnalysisError):
    """There is no Java that Spark can run on."""


class NoSpark(AnalysisError):
    """Java is there, but Spark did not start or its master cannot be reached."""


class TraceError(AnalysisError):
    """The folder is not a run, or its trace cannot be read as one."""


class SweepError(AnalysisError):
    """A sweep cannot be planned, or what stands in its folder is another one."""


class LearningError(AnalysisError):
    """Past values do not tell what was asked of them."""
