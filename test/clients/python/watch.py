# Keeps a picture of the ConfigMaps of a namespace by list and watch, through disconnects and expired versions, until stdin ends; then prints it as JSON.
import json
import sys
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

config.load_kube_config(config_file=sys.argv[1])
core = client.CoreV1Api()
state, counts, done = {}, {"lists": 0, "breaks": 0, "expired": 0}, threading.Event()


def relist():
    listed = core.list_namespaced_config_map("default")
    state.clear()
    state.update({item.metadata.name: item.metadata.resource_version for item in listed.items})
    counts["lists"] += 1
    return listed.metadata.resource_version


def follow(version):
    for event in watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=2, allow_watch_bookmarks=True):
        metadata = event["raw_object"]["metadata"]
        version = metadata["resourceVersion"]
        if event["type"] == "DELETED":
            state.pop(metadata["name"], None)
        elif event["type"] != "BOOKMARK":
            state[metadata["name"]] = version
        yield version


def run():
    version = None
    while True:
        try:
            version = version or relist()
            for version in follow(version):
                pass
        except ApiException as error:
            if error.status == 410:
                counts["expired"] += 1
                version = None
            counts["breaks"] += 1
            time.sleep(0.05)
        except Exception:
            counts["breaks"] += 1
            time.sleep(0.05)


threading.Thread(target=run, daemon=True).start()
for line in sys.stdin:
    print(json.dumps({"state": dict(state), **counts}), flush=True)
