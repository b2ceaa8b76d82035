import type { Notifications } from '../store/notifications.ts'
import { callerOf, type Caller, type AuthHooks } from './auth.ts'
import { createChangeHub } from './change-hub.ts'
import { openChangeStream } from './change-stream.ts'
import { startEventStream } from './event-streams.ts'
import { ACCOUNT_LIMITS } from './request-limits.ts'
import { failures, security } from './schema.ts'
import type { App } from './server.ts'
import { Changed } from './shapes.ts'

/** `/api/v1/events`: says what changed in the account, for whoever shows it. */
export function changeRoute(
  app: App,
  { authHooks, notifications }: { authHooks: AuthHooks; notifications: Notifications },
): void {
  const hub = createChangeHub(notifications)
  const open = new Map<string, Set<() => void>>()
  app.addHook('preClose', async () => {
    hub.close()
    for (const those of open.values()) for (const end of those) end()
  })

  app.get(
    '/api/v1/events',
    {
      config: { limit: 'change streams' },
      onRequest: authHooks.account,
      exposeHeadRoute: false,
      schema: {
        summary: 'Follow what changes in my account (server-sent events)',
        operationId: 'followChanges',
        description:
          'An event `changed` says where something looks different now: ask there again. What changes often is told a few ' +
          'times a second at most. A stream begins with what changed in the last 5 seconds. After an event `missed`, ' +
          `whose data is \`{}\`, anything may have changed. An account has at most ${ACCOUNT_LIMITS['change streams'].maxConcurrent} streams.`,
        tags: ['Accounts'],
        security,
        produces: ['text/event-stream'],
        response: {
          200: { description: 'Changes', content: { 'text/event-stream': { schema: Changed } } },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const those = open.get(caller.accountId) ?? new Set()
      open.set(caller.accountId, those)
      const { raw } = startEventStream(reply)
      const stream = openChangeStream(raw, () => isSame(caller, authHooks.reauthenticate(request)))
      const leave = hub.add({ caller, ...stream })
      those.add(stream.end)
      await new Promise((resolve) => raw.once('close', resolve))
      leave()
      stream.end()
      those.delete(stream.end)
      if (those.size === 0) open.delete(caller.accountId)
    },
  )
}

/** Whether they would be let in now as they were; with other rights they come in anew. */
function isSame({ admin }: Caller, again: Promise<Caller>): Promise<boolean> {
  return again.then(
    (now) => now.admin === admin,
    () => false,
  )
}
