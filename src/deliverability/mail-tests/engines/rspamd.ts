import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { messageOf } from '../../../errors.ts'
import { postBytes } from '../../../net/http/post-bytes.ts'
import { noAnswer, sortSymbols, type Engine, type EngineMail } from './engine.ts'

/** The answer of rspamd to `/checkv2`. */
const Answer = Type.Object({
  score: Type.Number(),
  required_score: Type.Number(),
  action: Type.String(),
  symbols: Type.Record(
    Type.String(),
    Type.Object({
      name: Type.Optional(Type.String()),
      score: Type.Optional(Type.Number()),
      description: Type.Optional(Type.String()),
    }),
  ),
})

/** Creates the engine of an rspamd worker, such as `http://127.0.0.1:11333`. */
export function rspamdEngine(url: string): Engine {
  return async (mail, signal) => {
    try {
      const target = new URL('/checkv2', url)
      const { status, body } = await postBytes(target, mail.content, headersOf(mail), signal)
      if (status !== 200) return noAnswer('rspamd', `rspamd returned HTTP status ${status}.`)
      const answer: unknown = JSON.parse(body)
      if (!Value.Check(Answer, answer))
        return noAnswer('rspamd', 'The answer of rspamd is not known.')
      const symbols = Object.entries(answer.symbols).map(
        ([name, { score = 0, description = '' }]) => ({ name, score, description }),
      )
      return {
        engine: 'rspamd',
        state: 'checked',
        score: answer.score,
        threshold: answer.required_score,
        // Greylisting is for a first contact, which each test is.
        action: answer.action === 'greylist' ? 'no action' : answer.action,
        symbols: sortSymbols(symbols),
        reason: null,
      }
    } catch (error) {
      return noAnswer('rspamd', `rspamd did not answer: ${messageOf(error)}`)
    }
  }
}

/**
 * Only headers of ours: `File`, `Path` and `Shm` would make rspamd open files. Values are those of a
 * header: without line breaks.
 */
function headersOf(mail: EngineMail): Record<string, string> {
  const given = {
    IP: mail.ip,
    Helo: mail.helo,
    Hostname: mail.hostname,
    From: mail.mailFrom,
    Rcpt: mail.rcptTo,
    'TLS-Version': mail.tlsVersion,
    Pass: 'all',
  }
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const safe = value?.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 320)
      return safe ? [[name, safe]] : []
    }),
  )
}
