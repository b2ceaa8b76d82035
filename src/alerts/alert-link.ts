/**
 * URL of the dashboard page that an alert is about.
 * @param path from the root of the dashboard; empty for alerts from before alerts had one
 * @param baseUrl public URL of the service, without a slash at its end
 */
export function alertLink({ path }: { path: string }, baseUrl: string): string | null {
  return path === '' ? null : baseUrl + path
}
