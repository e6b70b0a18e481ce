// Image references, as far as defaults need them: is the tag that a reference means `latest`?

const component = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const domain = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?/)?';
const reference = new RegExp(`^${domain}${component}(?:/${component})*(?::([\\w][\\w.-]{0,127}))?(@[a-zA-Z0-9:+._-]+)?$`);
const maxReferenceLength = 1024;
const maxNameLength = 255;

/** `Always` for images whose tag is or means `latest`, else `IfNotPresent`. References that cannot be read have no tag. */
export function choosePullPolicy(image: unknown): string {
  if (typeof image !== 'string' || image.length > maxReferenceLength) return 'IfNotPresent';
  const match = reference.exec(image);
  if (match === null) return 'IfNotPresent';
  const [, tag, digest] = match;
  const name = image.slice(0, image.length - (digest ?? '').length - (tag === undefined ? 0 : tag.length + 1));
  if (name.length > maxNameLength) return 'IfNotPresent';
  const meansLatest = tag === 'latest' || (tag === undefined && digest === undefined);
  return meansLatest ? 'Always' : 'IfNotPresent';
}
