"""How nodes move: one file a model, all of them straight legs at constant speed."""
