/** Where links lead: this service, and the workspace that an alert is about. */
export type LinkTarget = {
  /** Public URL of the service, without a slash at its end. */
  baseUrl: string
  workspaceId: string
}

/**
 * URL of the dashboard page that an alert is about. It opens the alert’s workspace, whichever one
 * the browser used last.
 * @param path from the root of the dashboard; empty for alerts from before alerts had one
 */
export function alertLink({ path }: { path: string }, target: LinkTarget): string | null {
  return path === '' ? null : dashboardLink(path, target)
}

/** URL of a page of the dashboard in a workspace. @param path may have a query */
export function dashboardLink(path: string, { baseUrl, workspaceId }: LinkTarget): string {
  const [page = '', query = ''] = path.split('?')
  return `${baseUrl}${page}?workspace=${workspaceId}${query && `&${query}`}`
}
