/** The requests of the first page of the dashboard, as its queries write them. */
export const OVERVIEW_PATHS: readonly string[] = [
  '/api/v1/workspaces',
  '/api/v1/problems',
  '/api/v1/domains?limit=12&watched=true',
  '/api/v1/alerts?page=1&limit=20',
  '/api/v1/monitoring/hosts?sort=status&limit=12',
  '/api/v1/delisting/status?limit=100',
  '/api/v1/imap/migrations?limit=100',
  '/api/v1/dmarc/domains?limit=1',
  '/api/webhook/endpoints',
  '/api/v1/mail-tests?page=1',
  '/api/v1/abuse/tokens',
]
