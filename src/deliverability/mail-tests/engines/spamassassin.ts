import { messageOf } from '../../../errors.ts'
import { askSpamd } from '../../../net/spamd.ts'
import type { HostPort } from '../../../setting-values.ts'
import { noAnswer, sortSymbols, type Engine, type EngineMail, type EngineSymbol } from './engine.ts'

/** Creates the engine of a spamd (SpamAssassin), by its address. */
export function spamassassinEngine(address: HostPort): Engine {
  return async (mail, signal) => {
    try {
      const { code, headers, body } = await askSpamd(address, withReceived(mail), signal)
      if (code !== 0) return noAnswer('spamassassin', `spamd returned code ${code}.`)
      const [, isSpam, score, threshold] =
        /^(true|false|yes|no)\s*;\s*(-?[\d.]+)\s*\/\s*(-?[\d.]+)$/i.exec(
          headers.get('spam') ?? '',
        ) ?? []
      if (isSpam === undefined) return noAnswer('spamassassin', 'The answer of spamd is not known.')
      return {
        engine: 'spamassassin',
        state: 'checked',
        score: Number(score),
        threshold: Number(threshold),
        action: /^(?:true|yes)$/i.test(isSpam) ? 'spam' : 'no spam',
        symbols: sortSymbols(readSymbols(body)),
        reason: null,
      }
    } catch (error) {
      return noAnswer('spamassassin', `spamd did not answer: ${messageOf(error)}`)
    }
  }
}

/** Without a Received field of the receiving server, SpamAssassin takes another hop as the sender. */
function withReceived({ content, ip, helo, hostname, tlsVersion }: EngineMail): Buffer {
  if (ip === null) return content
  const name = (helo ?? 'unknown').replaceAll(/[^\w.:[\]-]/g, '').slice(0, 255) || 'unknown'
  const protocol = tlsVersion === null ? 'ESMTP' : 'ESMTPS'
  const date = new Date().toUTCString().replace('GMT', '+0000')
  const line =
    `Received: from ${name} (${hostname ?? 'unknown'} [${ip}])\r\n` +
    `\tby mail-test.invalid with ${protocol} id test; ${date}\r\n`
  return Buffer.concat([Buffer.from(line, 'latin1'), content])
}

/** The lines of a report: ` 1.2 RULE_NAME   BODY: what it means`, continued with spaces. */
export function readSymbols(report: string): EngineSymbol[] {
  const symbols: EngineSymbol[] = []
  for (const line of report.split(/\r?\n/)) {
    const [, score, name, description = ''] =
      /^\s*(-?\d{1,4}(?:\.\d+)?)\s+([A-Z][A-Z\d_]{2,})\s*(.*)$/.exec(line) ?? []
    const last = symbols.at(-1)
    if (score !== undefined && name !== undefined)
      symbols.push({ name, score: Number(score), description })
    else if (last && /^\s{10,}\S/.test(line)) last.description += ` ${line.trim()}`
  }
  return symbols
}
