// The texts of --etcd-servers-overrides: `group/resource#server;server`.

/** The servers of the etcd that keeps a resource. */
export interface EtcdOverride {
  /** Empty for the core group. */
  readonly group: string;
  /** A plural, or `*` for all of the group. */
  readonly resource: string;
  readonly servers: readonly string[];
}

/** The overrides; undefined when one of the texts is none. */
export function parseOverrides(texts: readonly string[]): readonly EtcdOverride[] | undefined {
  const overrides = texts.map((text): EtcdOverride | undefined => {
    const [names = '', list = '', ...more] = text.split('#');
    const [group = '', resource, ...others] = names.split('/');
    const servers = list.split(';');
    if (resource === undefined || more.length + others.length > 0 || servers.includes('')) return undefined;
    return { group, resource, servers };
  });
  return overrides.every((override) => override !== undefined) ? overrides : undefined;
}
