import { Html, markup } from '../../http/markup.ts'
import { plainPage } from '../../http/plain-page.ts'
import { publicPage } from '../../http/public-page.ts'
import type { App } from '../../http/http-server.ts'
import type { Db } from '../../store/database.ts'
import { optOutPage as messages } from './messages.ts'
import { hashEmail, readOptOutToken } from './opt-out.ts'
import { insertOptOut } from './abuse-mails.sql.ts'

export const OPT_OUT_PATH = '/abuse-reports/opt-out'

/** The link in an abuse email. */
export function optOutRoutes(app: App, { db, optOutKey }: { db: Db; optOutKey: string }): void {
  const nothing = new Html('')
  const button = markup`<form method="post"><button type="submit">${messages.button}</button></form>`
  publicPage(app, {
    url: `${OPT_OUT_PATH}/:token`,
    limit: 'public pages',
    tokenLength: 500,
    formBytes: 4_096,
    async open(token) {
      const email = readOptOutToken(optOutKey, token)
      return email === null ? null : { email }
    },
    unknown: () => plainPage(messages.unknown, messages.unknownText, nothing),
    ask: () => plainPage(messages.title, messages.question, button),
    async act({ email }) {
      await insertOptOut(db, hashEmail(email), 'link')
      return plainPage(messages.done, messages.doneText, nothing)
    },
  })
}
