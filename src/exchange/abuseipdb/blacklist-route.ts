import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { pieces } from '../../abuse/export/list-lines.ts'
import { readFlag, readInteger, type Parameters } from './parameters.ts'
import { parametersOf, type Guard } from './caller.ts'
import * as shapes from './shapes.ts'
import { timeOf } from './abuseipdb-time.ts'

const MAX_BLACKLIST = 500_000

export function blacklistRoute(
  app: App,
  { exports }: Pick<AttackList, 'exports'>,
  guard: Guard,
): void {
  app.get(
    '/api/v2/blacklist',
    {
      config: { limit: 'list exports', key: 'report token' },
      preValidation: guard('blacklist'),
      schema: {
        ...shapes.describe('getAbuseIpdbBlacklist', 'Download the blocklist, as AbuseIPDB’s API'),
        description:
          'Without `confidenceMinimum` the whole list. Countries are not known: `onlyCountries` returns nothing, and ' +
          '`exceptCountries` everything.',
        querystring: shapes.BlacklistParameters,
        response: shapes.blacklistResponses,
      },
    },
    async (request, reply) => {
      const parameters = parametersOf(request)
      const limit = readInteger(parameters, 'limit', { min: 1, max: 9_999_999, byDefault: 10_000 })
      const min = readInteger(parameters, 'confidenceMinimum', { min: 25, max: 100, byDefault: 25 })
      const { createdAt, entries } = await exports.list()
      const wanted = wantedIn(entries, parameters, { min, limit: Math.min(limit, MAX_BLACKLIST) })
      const generatedAt = timeOf(createdAt) ?? ''
      reply.header('x-generated-at', generatedAt)
      const isPlain =
        readFlag(parameters, 'plaintext') || request.headers.accept?.startsWith('text/plain')
      return isPlain
        ? sendPieces(reply.type('text/plain; charset=utf-8'), linesOf(wanted))
        : sendPieces(reply.type('application/json'), jsonOf(wanted, generatedAt))
    },
  )
}

/** A piece at a time, so that others get their turn and a slow reader takes no memory. */
const sendPieces = (reply: FastifyReply, content: Iterable<string>) =>
  reply.send(Readable.from(content))

type Listed = { address: string; score: number; lastReportedAt: Date }

/** Worst first, as far as the limit allows. */
function wantedIn(
  entries: readonly Listed[],
  parameters: Parameters,
  { min, limit }: { min: number; limit: number },
): Listed[] {
  const version = readInteger(parameters, 'ipVersion', { min: 4, max: 6, byDefault: 0 })
  if (parameters['onlyCountries']) return []
  return entries
    .filter(({ score, address }) => {
      const family = address.includes(':') ? 6 : 4
      // The score as it is shown: clients ask for the 100 that they see.
      return Math.round(score) >= min && (version === 0 || version === family)
    })
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
}

/** Lines without an end after the last one. */
function* linesOf(listed: Listed[]): Generator<string> {
  let separator = ''
  for (const piece of pieces(listed)) {
    yield separator + piece.map(({ address }) => address).join('\n')
    separator = '\n'
  }
}

function* jsonOf(listed: Listed[], generatedAt: string): Generator<string> {
  yield `{"meta":${JSON.stringify({ generatedAt })},"data":[`
  let separator = ''
  for (const piece of pieces(listed)) {
    yield separator + piece.map((entry) => JSON.stringify(entryOf(entry))).join(',')
    separator = ','
  }
  yield ']}'
}

const entryOf = ({ address, score, lastReportedAt }: Listed) => ({
  ipAddress: address,
  countryCode: null,
  abuseConfidenceScore: Math.round(score),
  lastReportedAt: timeOf(lastReportedAt),
})
