export type DigestLinks = ReturnType<typeof createLinks>

/**
 * Links into the dashboard that open the right workspace, whichever one the browser used last.
 * @param baseUrl public URL of the service, without a slash at its end
 */
export function createLinks(baseUrl: string, workspaceId: string) {
  const page = (path: string) => `${baseUrl}${path}?workspace=${workspaceId}`
  return {
    page,
    host: (id: string) => page(`/monitoring/${id}`),
    domain: (domain: string) => page(`/domains/${encodeURIComponent(domain)}`),
    dmarcDomain: (id: string) => page(`/dmarc/${id}`),
    delisting: (id: string) => page(`/delisting/${id}`),
    migration: (id: string) => page(`/migrations/${id}`),
    webhook: (id: string) => page(`/hooks/${id}`),
    settings: page('/alerts/digest'),
  }
}
