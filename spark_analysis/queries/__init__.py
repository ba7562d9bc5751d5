"""From tables to answers: each module asks one family of questions and returns plain facts."""
