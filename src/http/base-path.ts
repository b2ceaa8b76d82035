/**
 * Creates the function that removes the path of BASE_URL from request targets, also from those in
 * absolute form (RFC 9112, 3.2.2). Other targets stay: probes do not name the path, and a proxy may
 * have removed it.
 */
export function createPathRemover(basePath: string): (target: string) => string {
  if (basePath === '') return (target) => target
  const escaped = basePath.replaceAll('.', String.raw`\.`)
  const prefix = new RegExp(String.raw`^((?i:https?:\/\/)[^/?#]*)?${escaped}(?=[/?#]|$)\/?`)
  return (target) => target.replace(prefix, '$1/')
}
