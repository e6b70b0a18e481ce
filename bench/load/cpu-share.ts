// Gives processes a part of a core each, by the quota of a control group (Linux, version 1 or 2, root): as many cores as processes, each as slow as
// that part, on a machine that has fewer. The threads of a process share its part.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PERIOD_US = 10_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/** Holds each process to `share` of a core; the call that comes back lets them go, and must come after they have ended or when they may run free. */
export function limitToShare(pids: readonly number[], share: number): () => void {
  const isFirst = existsSync(join(VERSION_1, 'cgroup.procs'));
  const root = isFirst ? VERSION_1 : VERSION_2;
  const quotaUs = Math.round(share * PERIOD_US);
  const groups = pids.map((pid) => {
    const group = join(root, `pintle-bench-${pid}`);
    if (!isFirst) writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu');
    mkdirSync(group);
    if (isFirst) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quotaUs));
    } else {
      writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${PERIOD_US}`);
    }
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
    return group;
  });
  return () => {
    for (const [at, group] of groups.entries()) {
      if (existsSync(`/proc/${pids[at]}`)) writeFileSync(join(root, 'cgroup.procs'), String(pids[at]));
      rmdirSync(group);
    }
  };
}
