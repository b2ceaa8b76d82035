import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { responses, Done, paginationOf, sliceOf, Success, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { AttackList } from './attack-list.ts'
import { decide } from './appeals/appeals.ts'
import { decideCandidate, readCandidates, type CandidateDeps } from './candidates/candidates.ts'
import { approveHold, findHold } from './export/list-export.sql.ts'
import { addRange, removeRange } from './ranges/ranges.ts'
import { countRanges, listRanges, type RangeKind } from './ranges/ranges.sql.ts'
import {
  Appeal,
  AppealPage,
  CandidateDecision,
  CandidatePage,
  Decision,
  EXEMPTION_KINDS,
  HoldAnswer,
  NewExemption,
  NewSensor,
  AbusePageQuery,
  Range,
  RangePage,
} from './shapes.ts'
import { countAppeals, listAppeals } from './appeals/appeals.sql.ts'
import { readSubject } from './subject.ts'

const common = {
  description: 'For administrators.',
}
const params = Type.Object({ id: Uuid })

export function administratorRoutes(app: App, list: AttackList): void {
  rangeRoutes(app, list, { path: 'whitelist', kinds: [...EXEMPTION_KINDS], body: NewExemption })
  rangeRoutes(app, list, { path: 'sensors', kinds: ['sensor'], body: NewSensor })
  appealRoutes(app, list)
  candidateRoutes(app, list)
  holdRoutes(app, list)
}

type RangeRoutes = {
  path: 'whitelist' | 'sensors'
  kinds: RangeKind[]
  body: typeof NewExemption | typeof NewSensor
}

function rangeRoutes(
  app: App,
  { db, ranges }: Pick<AttackList, 'db' | 'ranges'>,
  { path, kinds, body }: RangeRoutes,
): void {
  const noun = path === 'whitelist' ? 'allowlist' : 'sensors'
  app.get(
    `/api/v1/abuse/${path}`,
    {
      schema: {
        summary: `List the ${noun}`,
        ...common,
        querystring: AbusePageQuery,
        response: responses(RangePage),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countRanges(db, kinds)
      const found = await listRanges(db, kinds, sliceOf({ page, limit }))
      return {
        success: true,
        data: { ranges: found, pagination: paginationOf({ page, limit }, total) },
      }
    },
  )
  app.post(
    `/api/v1/abuse/${path}`,
    {
      config: { acceptsTokens: true },
      schema: {
        summary: `Add a range to the ${noun}`,
        ...common,
        body,
        response: responses(Success(Range), 201),
      },
    },
    async (request, reply) => {
      const {
        cidr,
        label = '',
        kind = 'sensor',
      } = request.body as { cidr: string; label?: string; kind?: RangeKind }
      const allowed = kinds.includes(kind) ? kind : (kinds[0] as RangeKind)
      const data = await addRange(db, { kind: allowed, cidr, label })
      await ranges.reload()
      return reply.code(201).send({ success: true, data })
    },
  )
  app.delete(
    `/api/v1/abuse/${path}/:id`,
    {
      config: { acceptsTokens: true },
      schema: {
        summary: `Remove a range from the ${noun}`,
        ...common,
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await removeRange(db, request.params.id, kinds)
      await ranges.reload()
      return { success: true }
    },
  )
}

function appealRoutes(app: App, { db, clock }: Pick<AttackList, 'db' | 'clock'>): void {
  app.get(
    '/api/v1/abuse/appeals',
    {
      schema: {
        summary: 'List appeals, undecided ones first',
        ...common,
        querystring: AbusePageQuery,
        response: responses(AppealPage),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countAppeals(db)
      const appeals = await listAppeals(db, sliceOf({ page, limit }))
      return { success: true, data: { appeals, pagination: paginationOf({ page, limit }, total) } }
    },
  )
  app.post(
    '/api/v1/abuse/appeals/:id/decision',
    {
      schema: {
        summary: 'Decide an appeal',
        ...common,
        params,
        body: Decision,
        response: responses(Success(Appeal)),
      },
    },
    async ({ params: { id }, body }) => ({
      success: true,
      data: await decide(db, id, body.upheld, clock()),
    }),
  )
}

function candidateRoutes(
  app: App,
  deps: CandidateDeps & Pick<AttackList, 'clock' | 'systems'>,
): void {
  const { clock, systems } = deps
  app.get(
    '/api/v1/abuse/candidates',
    {
      schema: {
        summary: 'List addresses that wait for confirmation',
        ...common,
        querystring: AbusePageQuery,
        response: responses(CandidatePage),
      },
    },
    async ({ query: { page, limit } }) => {
      const { candidates, total } = await readCandidates(deps, sliceOf({ page, limit }), clock())
      const networkTable = { source: systems.source, date: systems.date }
      return {
        success: true,
        data: { candidates, networkTable, pagination: paginationOf({ page, limit }, total) },
      }
    },
  )
  app.post(
    '/api/v1/abuse/candidates/decisions',
    {
      schema: {
        summary: 'Confirm or discard an address that waits for confirmation',
        ...common,
        body: CandidateDecision,
        response: responses(Done),
      },
    },
    async ({ body: { ip, list } }) => {
      await decideCandidate(deps, { subject: readSubject(ip), list }, clock())
      return { success: true }
    },
  )
}

function holdRoutes(app: App, { db }: Pick<AttackList, 'db'>): void {
  app.get(
    '/api/v1/abuse/export/hold',
    {
      schema: {
        summary: 'Get the blocklist update on hold',
        ...common,
        response: responses(HoldAnswer),
      },
    },
    async () => ({ success: true, data: (await findHold(db)) ?? null }),
  )
  app.post(
    '/api/v1/abuse/export/hold/approve',
    {
      schema: {
        summary: 'Publish the blocklist update on hold',
        ...common,
        response: responses(HoldAnswer),
      },
    },
    async () => {
      const hold = await approveHold(db)
      if (!hold) throw new Fault('conflict', 'No blocklist update is on hold.')
      return { success: true, data: hold }
    },
  )
}
