import type { App } from '../http/http-server.ts'
import { domainRoutes } from './domains/routes.ts'
import { uploadRoute } from './intake/upload-route.ts'
import { mailboxRoutes } from './mailboxes/routes.ts'
import { dmarcReportRoutes } from './reports/routes.ts'
import type { RouteDeps } from './route-deps.ts'
import { sourceRoutes } from './sources/routes.ts'
import { senderRoutes } from './senders/routes.ts'

/** `/api/v1/dmarc/…`: domains, reports, sources, uploads and mailboxes. */
export function dmarcRoutes(app: App, deps: RouteDeps): void {
  domainRoutes(app, deps)
  dmarcReportRoutes(app, deps)
  sourceRoutes(app, deps)
  senderRoutes(app, deps)
  uploadRoute(app, deps)
  mailboxRoutes(app, deps)
}
