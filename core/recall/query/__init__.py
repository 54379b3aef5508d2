"""What is asked: the request, the question understood, and who may see what as SQL. Must not: rank."""
