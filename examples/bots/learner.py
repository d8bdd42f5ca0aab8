"""A learner: an environment with reset and step, as Gymnasium's, and a search for the best of some policies.

    python3 learner.py go run . gym          # in the folder of a game that samestep new has written
"""
import json
import random
import subprocess
import sys


class Env:
    """A game for one seat. command starts gym, such as ["samestep", "gym", "skirmish"]."""

    def __init__(self, command):
        self.gym = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hello = json.loads(self.gym.stdout.readline())
        self.seat = str(self.hello["seats"][0])

    def say(self, answer):
        self.gym.stdin.write(json.dumps(answer) + "\n")
        self.gym.stdin.flush()
        step = json.loads(self.gym.stdout.readline())
        seen = step.get("state") or step["observations"][self.seat]
        return seen, step["rewards"][self.seat], step["terminated"], step["truncated"], step["info"]

    def reset(self, seed=None, options=None):
        seen, _, _, _, info = self.say({"reset": {"seed": seed, "config": options}})
        return seen, info

    def step(self, commands):
        return self.say({"commands": commands})

    def close(self):
        self.gym.stdin.close()
        self.gym.wait()


def play(env, stride, seed):
    """Returns the rewards of an episode in which the digger walks to the first gold that it sees, or explores by a stride."""
    seen, _ = env.reset(seed)
    total, over = 0, False
    while not over:
        to = seen["Gold"][0] if seen["Gold"] else {k: (float(v) + stride) % 256 for k, v in seen["To"].items()}
        arrived = any(d["Owner"] == int(env.seat) and d["At"] == seen["To"] for d in seen["Diggers"])
        value = {k: min(round(float(v)), 255) for k, v in to.items()}
        seen, reward, ended, cut, _ = env.step([{"name": "walk", "value": value}] if arrived or seen["Gold"] else [])
        total, over = total + reward, ended or cut
    return total


env = Env(sys.argv[1:])
random.seed(1)
best = max((play(env, stride, seed=7), stride) for stride in random.sample(range(20, 200), 4))
print("the best policy has the reward %d with the stride %d" % best)
env.close()
