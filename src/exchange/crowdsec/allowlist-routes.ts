import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { sendText } from '../../http/send-parts.ts'
import type { App } from '../../http/http-server.ts'
import { findAllowedIn, listAllowed, type AllowedNetwork } from '../../fleet/fleet.sql.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { readNetwork } from '../../protocols/networks/read-network.ts'
import { describeAgentRoute, requireSession } from './crowdsec-session.ts'
import {
  Allowlist,
  AllowlistName,
  AllowlistNetwork,
  AllowlistQuery,
  Allowlists,
  AllowlistTarget,
  AllowlistTargets,
  CheckedTarget,
  CheckedTargets,
} from './shapes.ts'

/** A fleet has one allowlist, which agents know by this name. */
const NAME = 'portreeve'

/**
 * `/v1/allowlists`: the networks that the fleet never bans, which agents of CrowdSec 1.7 and their
 * AppSec component read, so that they raise no alerts about them. Paths and fields are those of
 * CrowdSec.
 */
export function allowlistRoutes(app: App, abuse: Pick<AttackList, 'db' | 'reportTokens'>): void {
  const config = { limit: 'fleet lists', key: 'report token' } as const

  app.get(
    '/v1/allowlists',
    {
      config,
      schema: {
        ...describeAgentRoute('listCrowdSecAllowlists', 'Get the allowlist of the fleet, for CrowdSec agents', { 200: Allowlists }), // prettier-ignore
        querystring: AllowlistQuery,
      },
    },
    async (request, reply) => {
      const lists = [await readAllowlist(abuse, request, request.query)]
      return sendText(reply.type('application/json'), JSON.stringify(lists))
    },
  )
  app.get(
    '/v1/allowlists/:name',
    {
      config,
      schema: {
        ...describeAgentRoute('getCrowdSecAllowlist', 'Get the allowlist of the fleet by its name', { 200: Allowlist }), // prettier-ignore
        params: AllowlistName,
        querystring: AllowlistQuery,
      },
    },
    async (request) => {
      const list = await readAllowlist(abuse, request, request.query)
      if (request.params.name !== NAME) throw new Fault('not_found', 'object not found')
      return list
    },
  )
  const check = async (request: FastifyRequest, reply: FastifyReply, asked: string) => {
    const { workspaceId } = await requireSession(abuse, request)
    const network = readNetwork(asked)
    const found = (await findAllowedIn(abuse.db, workspaceId, [network])).get(network)
    // A response to HEAD has no body.
    if (request.method === 'HEAD' && !found) reply.statusCode = 204
    return found ? { allowlisted: true, reason: reasonOf(found) } : { allowlisted: false }
  }
  const described = describeAgentRoute('checkCrowdSecAllowlist', 'Check whether a fleet’s allowlist has an address or network', { 200: CheckedTarget }) // prettier-ignore
  app.get(
    '/v1/allowlists/check/:target',
    { config, schema: { ...described, params: AllowlistTarget } },
    (request, reply) => check(request, reply, request.params.target),
  )
  app.get(
    '/v1/allowlists/check/:target/:bits',
    { config, schema: { ...described, hide: true, params: AllowlistNetwork } },
    (request, reply) => check(request, reply, `${request.params.target}/${request.params.bits}`),
  )
  app.post(
    '/v1/allowlists/check',
    {
      config,
      schema: {
        ...describeAgentRoute('checkCrowdSecAllowlists', 'Check which addresses or networks a fleet’s allowlist has', { 200: CheckedTargets }), // prettier-ignore
        body: AllowlistTargets,
      },
    },
    async (request) => {
      const { workspaceId } = await requireSession(abuse, request)
      const asked = new Map(request.body.targets.map((target) => [target, readNetwork(target)]))
      const found = await findAllowedIn(abuse.db, workspaceId, [...new Set(asked.values())])
      const results = [...asked].flatMap(([target, network]) => {
        const allowed = found.get(network)
        return allowed ? [{ target, allowlists: [reasonOf(allowed)] }] : []
      })
      return { results }
    },
  )
}

/** An allowlist as CrowdSec has it. Its `items` are empty unless they are asked for. */
async function readAllowlist(
  abuse: Pick<AttackList, 'db' | 'reportTokens'>,
  request: FastifyRequest,
  query: { with_content?: string | string[] | undefined },
) {
  const { workspaceId } = await requireSession(abuse, request)
  const networks = await listAllowed(abuse.db, workspaceId)
  const times = networks.map(({ createdAt }) => createdAt.getTime()).toSorted((a, b) => a - b)
  const timeOf = (time = 0) => new Date(time).toISOString()
  // As CrowdSec reads it: the first value, in this spelling.
  const isWithContent = [query.with_content].flat()[0] === 'true'
  return {
    allowlist_id: workspaceId,
    name: NAME,
    description: 'Networks that the fleet never bans.',
    console_managed: false,
    created_at: timeOf(times[0]),
    updated_at: timeOf(times.at(-1)),
    items: isWithContent ? networks.map(itemOf) : [],
  }
}

const itemOf = ({ network, label, createdAt }: AllowedNetwork) => ({
  value: network,
  description: label,
  created_at: createdAt.toISOString(),
})

const reasonOf = ({ network, label }: Pick<AllowedNetwork, 'network' | 'label'>) =>
  `${network} from ${NAME}${label === '' ? '' : ` (${label})`}`
