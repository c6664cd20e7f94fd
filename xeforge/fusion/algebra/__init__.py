"""Algebra on whole operators: a captured graph becomes an equal one that does less."""
