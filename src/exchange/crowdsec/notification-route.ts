import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { requireAllowed, tokenHashOf, serverOf } from '../../abuse/intake/report-receipt.ts'
import { ReportHeaders, ReportQuery } from '../../abuse/shapes.ts'
import { Alerts, NotificationResult } from './shapes.ts'
import { submitAlerts } from './submit-alerts.ts'

/** Alerts have the log lines that caused them, which are dropped. */
export const ALERTS_BODY_LIMIT = 4 * 1024 * 1024

/** For CrowdSec’s notification plugin `http`, which sends a list of alerts. */
export function notificationRoute(
  app: App,
  abuse: Pick<AttackList, 'submit' | 'reporterOf' | 'clock'>,
): void {
  app.post(
    '/api/v1/abuse/report/crowdsec',
    {
      bodyLimit: ALERTS_BODY_LIMIT,
      config: { key: 'report token' },
      schema: {
        summary: 'Report the attackers of CrowdSec alerts',
        operationId: 'reportCrowdSecAlerts',
        description:
          'For the notification plugin `http`, with `{{.|toJson}}` as its format. Scenarios are mapped to services. Simulated, ' +
          'manual and old alerts are skipped. Log lines are not stored. Counts as one request.',
        headers: ReportHeaders,
        querystring: ReportQuery,
        body: Alerts,
        response: responses(Success(NotificationResult)),
      },
    },
    async (request, reply) => {
      const sender = { reporter: abuse.reporterOf(request.ip), tokenHash: tokenHashOf(request) }
      const { receipt, ...result } = await submitAlerts(abuse, request.body, sender)
      if (receipt) requireAllowed(reply, receipt)
      return { success: true, data: { ...result, ...(receipt && serverOf(receipt)) } }
    },
  )
}
