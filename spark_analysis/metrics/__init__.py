"""Frames that several modules share: functions from DataFrame to DataFrame, to be chained with
`transform`.
"""
