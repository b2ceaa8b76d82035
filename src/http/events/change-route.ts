import type { Notifications } from '../../store/notifications.ts'
import { callerOf, type Caller, type Reauthenticate } from '../auth.ts'
import { createChangeHub } from './change-hub.ts'
import { openChangeStream } from './change-stream.ts'
import { untilEnded, type EventWriter } from './event-writer.ts'
import { ACCOUNT_LIMITS } from '../limits/request-limits.ts'
import { failures } from '../http-schema.ts'
import type { App } from '../http-server.ts'
import { Changed } from '../shapes.ts'

/** `/api/v1/events`: streams the changes of a workspace, for dashboards and other clients. */
export function changeRoute(
  app: App,
  {
    reauthenticate,
    notifications,
  }: { reauthenticate: Reauthenticate; notifications: Notifications },
): void {
  const hub = createChangeHub(notifications)
  const open = new Set<EventWriter>()
  app.addHook('preClose', async () => {
    hub.close()
    open.forEach((writer) => writer.end())
  })

  app.get(
    '/api/v1/events',
    {
      config: { limit: 'change streams' },
      exposeHeadRoute: false,
      schema: {
        summary: 'Stream changes of the workspace',
        operationId: 'followChanges',
        description:
          'Server-sent events. An event `changed` names the module and object that changed: request it again. Frequent changes ' +
          'are combined into a few events a second. A stream begins with the changes of the last 5 seconds. After an event `missed`, ' +
          `whose data is \`{}\`, anything may have changed. An account can have up to ${ACCOUNT_LIMITS['change streams'].maxConcurrent} streams, over all workspaces that it answers for.`,
        produces: ['text/event-stream'],
        response: {
          200: { description: 'Changes', content: { 'text/event-stream': { schema: Changed } } },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { writer, ...listener } = openChangeStream(reply, () =>
        isSame(caller, reauthenticate(request)),
      )
      const unsubscribe = hub.add({ caller, ...listener })
      open.add(writer)
      await untilEnded(writer)
      unsubscribe()
      open.delete(writer)
    },
  )
}

/**
 * Whether the caller is still accepted with the same role. After a change of role, clients
 * reconnect.
 */
function isSame({ admin, role }: Caller, again: Promise<Caller>): Promise<boolean> {
  return again.then(
    (now) => now.admin === admin && now.role === role,
    () => false,
  )
}
