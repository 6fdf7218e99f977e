#!/usr/bin/env python3
"""A model server with Flask, as Kepler 0.7's is: POST /model gives the weights in memory. Arguments: port, file."""
import sys

import flask

app = flask.Flask(__name__)
with open(sys.argv[2], encoding="utf-8") as file:
    BEST = {("bpf_cpu_time_ms", "AbsPower"): file.read()}


@app.route("/model", methods=["POST"])
def model():
    request = flask.request.get_json()
    answer = BEST[(request["metrics"][0], request["output_type"])]
    return flask.Response(answer, mimetype="application/json")


app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=True)
