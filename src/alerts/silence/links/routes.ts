import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { App } from '../../../http/http-server.ts'
import { publicPage, type Ended } from '../../../http/public-page.ts'
import type { DB } from '../../../store/tables.ts'
import { actByLink, auditEntryOf, type WriteAudit } from './act.ts'
import { ACTIONS, LINK_PATH } from './action-links.ts'
import { donePage, questionPage, refusalPage, type Refusal } from './silence-page.ts'
import { findLinkTarget, type LinkTarget } from './silence-links.sql.ts'
import { linkToken, type LinkSubject } from './silence-token.ts'

export type LinkRoutesDeps = {
  db: Kysely<DB>
  secretKey: string
  previousKey: string | undefined
  baseUrl: string
  writeAudit: WriteAudit
}

const URL = `${LINK_PATH}/:token`

const query = Type.Object({ do: Type.Optional(Type.Enum([...ACTIONS])) })
const form = Type.Object({
  action: Type.Enum([...ACTIONS]),
  minutes: Type.Optional(Type.String({ pattern: '^\\d{1,6}$', maxLength: 6 })),
})

type Opened = { subject: LinkSubject; target: LinkTarget }

/** `/alerts/act/{token}`, the links in a message. Each acts once. */
export function linkRoutes(app: App, deps: LinkRoutesDeps): void {
  const dashboardUrl = `${deps.baseUrl}/alerts`
  publicPage(app, {
    url: URL,
    limit: 'public pages',
    tokenLength: 200,
    form,
    formBytes: 1_024,
    query,
    async open(token): Promise<Opened | Ended | null> {
      const opened = await open(deps, token)
      return typeof opened === 'string' ? { ended: refusalPage(opened, dashboardUrl) } : opened
    },
    unknown: () => refusalPage('unknown', dashboardUrl),
    ask: ({ target }, { do: action = 'acknowledge' }) => questionPage(target.title, action),
    async act({ subject, target }, given) {
      const done = await actByLink(deps.db, subject, target, given)
      if (done === null) return { status: 410, html: refusalPage('used', dashboardUrl) }
      await deps.writeAudit(auditEntryOf(target, given, `POST ${URL}`))
      return donePage(done, target.title, dashboardUrl)
    },
  })
}

async function open(
  { db, secretKey, previousKey }: LinkRoutesDeps,
  token: string,
): Promise<Opened | Exclude<Refusal, 'unknown'> | null> {
  const keys = [secretKey, ...(previousKey ? [previousKey] : [])]
  const subject = linkToken.read(keys, token)
  if (!subject) return null
  if (subject.isExpired) return 'expired'
  const target = await findLinkTarget(db, subject)
  if (!target) return null
  if (target.isUsed) return 'used'
  return target.hasEnded ? 'ended' : { subject, target }
}
