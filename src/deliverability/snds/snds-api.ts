import type { FreshToken } from '../../mail-credentials/token-source.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { isPage } from '../../protocols/reports/snds-report.ts'
import { AccessProblem } from '../provider-access/access-problem.ts'
import { askProvider, type Answer } from '../provider-access/ask-provider.ts'

const REPORTS = 'https://substrate.office.com/ip-domain-management-snds/api/report'

type SndsApi = {
  /** “IP data” of a day (YYYY-MM-DD): CSV or JSON; null where Microsoft has no report. */
  readDay(day: string): Promise<string | null>
  /** “IP status”; null where Microsoft has none. */
  readStatus(): Promise<string | null>
}

/**
 * Reads reports of the REST API of SNDS. Microsoft describes neither its paths nor its answers: both
 * are as VexaMail/vexa-insight (docs on SNDS) and optipub/outlook-snds-mcp have found them.
 * @throws (all functions) AccessProblem
 */
export function createSndsApi(
  request: GuardedFetch,
  freshToken: FreshToken,
  signal: AbortSignal,
): SndsApi {
  /** What paths end with: some accounts get 404 without a slash. */
  let endings = ['', '/']

  async function read(path: string): Promise<string | null> {
    for (const ending of endings) {
      const answer = await ask(`${REPORTS}/${path}${ending}`)
      if (answer.status === 404) continue
      if (answer.status !== 200 && answer.status !== 204) throw rejectionOf(answer)
      endings = [ending]
      return answer.text.trim() === '' ? null : answer.text
    }
    return null
  }

  async function ask(url: string): Promise<Answer> {
    const send = (token: string) =>
      askProvider(request, url, { headers: { authorization: `Bearer ${token}` }, signal })
    const token = await freshToken()
    const first = await send(token)
    if (!wantsSignIn(first)) return first
    const second = await send(await freshToken(token))
    if (!wantsSignIn(second)) return second
    throw new AccessProblem(
      'later',
      `Microsoft SNDS ${second.status === 401 ? 'rejects a token that Microsoft has just given' : 'sends a page to sign in, in place of data'}. If this stays, sign in again.`,
    )
  }

  return {
    readDay: (day) => read(`data/${day}`),
    readStatus: () => read('status/ip'),
  }
}

function wantsSignIn({ status, contentType, text }: Answer): boolean {
  if (status === 401 || (status >= 300 && status < 400)) return true
  return status === 200 && isPage(contentType, text)
}

function rejectionOf({ status, retryAfter }: Answer): AccessProblem {
  if (status === 403)
    return new AccessProblem(
      'ended',
      'Microsoft shows this account nothing of SNDS. Have its access approved in the SNDS portal, then sign in again.',
    )
  return new AccessProblem('later', `Microsoft SNDS answered with ${status}.`, retryAfter)
}
