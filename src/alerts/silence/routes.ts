import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { SendDeps } from '../channels/channel-type.ts'
import {
  acknowledgeIncident,
  muteAlerts,
  snoozeIncident,
  unacknowledgeIncident,
  unsnoozeIncident,
} from './silence-actions.ts'
import { endOf, requireEnd } from './durations.ts'
import { MUTE_MINUTES, SNOOZE_MINUTES } from './limits.ts'
import { deleteMute, listMutes } from './mutes.sql.ts'
import { Mute, NewMute, NewSnooze } from './shapes.ts'
import { presentMute } from './silence-view.ts'

const params = Type.Object({ id: Uuid })

type Deps = Pick<SendDeps, 'db'>

/** Routes with which members acknowledge and snooze incidents and mute alerts. */
export function silenceRoutes(app: App, deps: Deps): void {
  acknowledgeRoutes(app, deps)
  snoozeRoutes(app, deps)
  muteRoutes(app, deps)
}

const incidentOf = (request: FastifyRequest<{ Params: { id: string } }>) => ({
  workspaceId: callerOf(request).workspaceId,
  id: request.params.id,
})

const actorOf = (request: FastifyRequest) => ({
  accountId: callerOf(request).accountId,
  via: null,
})

function acknowledgeRoutes(app: App, { db }: Deps): void {
  const url = '/api/v1/alerts/incidents/:id/acknowledge'
  app.post(
    url,
    {
      schema: {
        summary: 'Acknowledge an incident',
        description:
          'Updates about it are no longer sent, its end is. It loses the acknowledgement when it becomes critical. PagerDuty and Jira Service Management get an acknowledge event; Discord, Matrix and Telegram show it in their message.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await acknowledgeIncident(db, incidentOf(request), actorOf(request))
      return { success: true }
    },
  )
  app.delete(
    url,
    {
      schema: {
        summary: 'Take back the acknowledgement of an incident',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await unacknowledgeIncident(db, incidentOf(request))
      return { success: true }
    },
  )
}

function snoozeRoutes(app: App, { db }: Deps): void {
  const url = '/api/v1/alerts/incidents/:id/snooze'
  app.post(
    url,
    {
      schema: {
        summary: 'Snooze an incident',
        description:
          'Nothing about it is sent until then. If it is still open at the end, one message says so and lists what was held back.',
        params,
        body: NewSnooze,
        response: responses(Done),
      },
    },
    async (request) => {
      const until = requireEnd(request.body, SNOOZE_MINUTES)
      await snoozeIncident(db, incidentOf(request), { ...actorOf(request), until })
      return { success: true }
    },
  )
  app.delete(
    url,
    {
      schema: {
        summary: 'End the snooze of an incident',
        description: 'What was held back is sent as one message.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await unsnoozeIncident(db, incidentOf(request))
      return { success: true }
    },
  )
}

function muteRoutes(app: App, { db }: Deps): void {
  const url = '/api/v1/alerts/mutes'
  app.get(
    url,
    {
      schema: {
        summary: 'List mutes',
        description: 'Those in force, newest first. A workspace can have up to 200.',
        response: responses(Success(Type.Array(Mute))),
      },
    },
    async (request) => {
      const mutes = await listMutes(db, callerOf(request).workspaceId)
      return { success: true, data: mutes.map(presentMute) }
    },
  )
  app.post(
    url,
    {
      schema: {
        summary: 'Mute alerts',
        description:
          'Alerts about the object, of the kind, or of the kind about the object, are recorded and not sent. A mute of the same object and kind is replaced.',
        body: NewMute,
        response: responses(Success(Mute), 201),
      },
    },
    async (request, reply) => {
      const { object = null, kind = null, label = '', reason = '', ...duration } = request.body
      if (object === null && kind === null) throw withoutSubject()
      const endsAt = endOf(duration, MUTE_MINUTES)
      const { workspaceId } = callerOf(request)
      const subject = { workspaceId, object, kind, label, reason, endsAt }
      const mute = await muteAlerts(db, { ...subject, ...actorOf(request) })
      return reply.code(201).send({ success: true, data: presentMute(mute) })
    },
  )
  app.delete(
    `${url}/:id`,
    { schema: { summary: 'Delete a mute', params, response: responses(Done) } },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await deleteMute(db, workspaceId, request.params.id)))
        throw new Fault('not_found', 'Mute not found.')
      await notifyChange(db, workspaceId, 'alerts', request.params.id)
      return { success: true }
    },
  )
}

function withoutSubject(): Fault {
  const message = 'Set “object”, “kind” or both.'
  return new Fault('invalid_request', message, { details: [{ path: 'object', message }] })
}
