import { createFederation, type Federation } from '../../exchange/federation/federation.ts'
import { addPeer, approvePeer, endPeer, readPeers } from '../../exchange/federation/peers/peers.ts'
import { createResolver } from '../../net/dns.ts'
import { openSecretKey } from '../../store/secret-key.ts'
import { isUuid } from '../../store/uuid.ts'
import { recordCommand } from '../audit.ts'
import { UsageError } from '../command.ts'
import { withDatabase } from '../database-access.ts'
import { printResult } from '../print-result.ts'
import { table } from '../terminal-text.ts'

type Result = { data: unknown; text: string }
type Verb = {
  /** The title of the audit entry; null for a command that only reads. */
  audit: string | null
  run: (federation: Federation, args: string[]) => Promise<Result>
}

const VERBS = {
  list: {
    audit: null,
    async run(federation) {
      const data = await readPeers(federation)
      const rows = data.peers.map(({ id, status, name, lastContactAt, received, sent }) => [
        id,
        status,
        name,
        lastContactAt?.toISOString() ?? '',
        String(received),
        String(sent),
      ])
      const own = `This installation: ${data.own.name}\n${groups(data.own.fingerprint)}`
      const list = rows.length === 0 ? 'No peers yet.' : table(rows, '')
      return { data, text: `${own}\n\n${list}` }
    },
  },
  add: {
    audit: 'Add an installation as a peer',
    async run(federation, [url = '']) {
      const data = await addPeer(federation, url)
      const text = `Added ${data.name} as ${data.id}. Compare its fingerprint, then approve it:\n${groups(data.fingerprint)}`
      return { data, text }
    },
  },
  approve: {
    audit: 'Approve a peer by its fingerprint',
    async run(federation, [id = '', ...fingerprint]) {
      const data = await approvePeer(federation, id, fingerprint.join(''))
      return { data, text: `Approved ${data.name}. Its state is ${data.status}.` }
    },
  },
  end: {
    audit: 'End a peering and delete the evidence of the peer',
    async run(federation, [id = '']) {
      await endPeer(federation, id)
      return { data: { id }, text: 'Ended. The running service deletes the evidence of the peer.' }
    },
  },
} satisfies Record<string, Verb>

/** Runs a subcommand of `portreeve peer` with its arguments, by their names. */
export async function runVerb(
  name: keyof typeof VERBS,
  given: Record<string, string>,
  json: boolean,
): Promise<number> {
  const { audit, run }: Verb = VERBS[name]
  if (given['id'] !== undefined && !isUuid(given['id']))
    throw new UsageError(`“${given['id']}” is not the ID of a peer.`, 'portreeve peer list')
  const { data, text } = await withDatabase(async (db, config) => {
    const resolver = createResolver({ servers: config.DNS_SERVERS })
    try {
      const federation = await createFederation({
        db,
        url: config.REPORTS_URL,
        keys: {
          secretKey: await openSecretKey(db, config, []),
          previousKey: config.SECRET_KEY_PREVIOUS,
        },
        resolver,
        allowPrivate: config.ALLOW_PRIVATE_TARGETS,
        clock: Date.now,
      })
      const result = await run(federation, Object.values(given))
      const route = `portreeve peer ${name}`
      if (audit) await recordCommand(db, { what: audit, route, details: given })
      return result
    } finally {
      resolver.close()
    }
  })
  return printResult(data, json, text)
}

/** A fingerprint in groups that two people can compare. */
const groups = (fingerprint: string) => (fingerprint.match(/.{4}/g) ?? []).join(' ')
