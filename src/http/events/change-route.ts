import type { Notifications } from '../../store/notifications.ts'
import { callerOf, type Caller, type Reauthenticate } from '../auth.ts'
import { createChangeHub } from './change-hub.ts'
import { openChangeStream } from './change-stream.ts'
import { startEventStream } from './event-streams.ts'
import { ACCOUNT_LIMITS } from '../limits/request-limits.ts'
import { failures } from '../schema.ts'
import type { App } from '../server.ts'
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
  const open = new Map<string, Set<() => void>>()
  app.addHook('preClose', async () => {
    hub.close()
    for (const streams of open.values()) for (const end of streams) end()
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
        tags: ['Accounts'],
        produces: ['text/event-stream'],
        response: {
          200: { description: 'Changes', content: { 'text/event-stream': { schema: Changed } } },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const streams = open.get(caller.workspaceId) ?? new Set()
      open.set(caller.workspaceId, streams)
      const { raw } = startEventStream(reply)
      const stream = openChangeStream(raw, () => isSame(caller, reauthenticate(request)))
      const unsubscribe = hub.add({ caller, ...stream })
      streams.add(stream.end)
      await new Promise((resolve) => raw.once('close', resolve))
      unsubscribe()
      stream.end()
      streams.delete(stream.end)
      if (streams.size === 0) open.delete(caller.workspaceId)
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
