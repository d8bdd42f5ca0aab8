"""A bot for any game: random commands, made by the types that the first line has. See docs/bots.md.

    samestep gym skirmish --bot-command "python3 bot.py" --ticks 1200 --episodes 3
    samestep join http://127.0.0.1:8766/matches/match-1 --bot-command "python3 bot.py"
"""
import json
import random
import sys

BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def value(kind):
    """Returns a random value of a type."""
    if kind == "bool":
        return random.random() < 0.5
    if kind == "string":
        return ""
    if isinstance(kind, str):
        return random.randrange(1 << random.randint(0, BITS[kind]))  # mostly a small one
    if "fixed" in kind:
        return random.randrange(64)
    if "list" in kind:
        return [value(kind["list"]) for _ in range(random.randrange(4))]
    if "array" in kind:
        return [value(kind["array"]) for _ in range(kind["length"])]
    return {name: value(field) for name, field in kind["fields"].items()}


def say(answer):
    print(json.dumps(answer), flush=True)


hello = json.loads(sys.stdin.readline())
say({"reset": {}})
for line in sys.stdin:
    step = json.loads(line)
    if "seed" in step["info"]:
        random.seed(step["info"]["seed"])  # the same episode again for the same seed
    if step["terminated"] or step["truncated"]:
        say({"reset": {}})
        continue
    seat, command = random.choice(hello["seats"]), random.choice(hello["commands"])
    say({"commands": [{"seat": seat, "name": command["name"], "value": value(command["value"])}]})
