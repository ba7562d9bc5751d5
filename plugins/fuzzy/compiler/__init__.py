"""From a subscription written by a person to its vector, in visible steps: document → predicates → curves →
fitted constraints → vector.
"""
