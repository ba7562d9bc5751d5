"""Many runs of one scenario: their plan, their tasks, their results."""
