import type { Config } from '../../../config.ts'
import type { Resolver } from '../../../net/dns.ts'
import { lookUpReverse } from '../../../protocols/networks/reverse-dns.ts'
import { ENGINE_TIMEOUT_MS } from '../../limits.ts'
import type { MailRow } from '../mail-tests.sql.ts'
import type { Engine, EngineResult } from './engine.ts'
import { rspamdEngine } from './rspamd.ts'
import { spamassassinEngine } from './spamassassin.ts'

export type AskEngines = (
  given: { mail: MailRow; content: Buffer },
  signal: AbortSignal,
) => Promise<EngineResult[]>

/** Creates the question to the operator’s spam filters; without any, it has no results. */
export function createAskEngines(
  { RSPAMD_URL, SPAMD_ADDRESS }: Pick<Config, 'RSPAMD_URL' | 'SPAMD_ADDRESS'>,
  resolver: Resolver,
): AskEngines {
  const engines: Engine[] = [
    ...(RSPAMD_URL ? [rspamdEngine(RSPAMD_URL)] : []),
    ...(SPAMD_ADDRESS ? [spamassassinEngine(SPAMD_ADDRESS)] : []),
  ]
  return async ({ mail, content }, outer) => {
    if (engines.length === 0) return []
    const signal = AbortSignal.any([outer, AbortSignal.timeout(ENGINE_TIMEOUT_MS)])
    const { ip, helo, mailFrom, rcptTo, connection } = mail
    const reverse = ip === null ? null : await lookUpReverse(ip, resolver, signal)
    const given = {
      content,
      ip,
      helo,
      mailFrom,
      rcptTo,
      hostname: reverse?.status === 'confirmed' ? (reverse.names[0] ?? null) : null,
      tlsVersion: connection?.tls?.version ?? null,
    }
    return Promise.all(engines.map((engine) => engine(given, signal)))
  }
}
