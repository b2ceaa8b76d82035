import { useQuery, useQueryClient } from '@tanstack/react-query'
import { AddressLink } from '../addresses/address-link.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { profile, sessionsQuery, type SignInSession } from './api.ts'
import { browserName } from './browser-name.ts'
import { sessions as messages } from './messages.ts'

/** The user's sessions, with buttons to end them. */
export function Sessions() {
  const queries = useQueryClient()
  const { data, error } = useQuery(sessionsQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data)
    return (
      <Loading lines={2} shape="list">
        {messages.loading}
      </Loading>
    )

  async function endOthers(): Promise<void> {
    await profile.endOtherSessions()
    await queries.invalidateQueries(sessionsQuery)
  }

  return (
    <>
      <List>
        {data.sessions.map((session) => (
          <SessionItem
            key={session.token}
            session={session}
            isCurrent={session.token === data.current}
          />
        ))}
      </List>
      {data.sessions.length > 1 && (
        <div>
          <ConfirmButton
            label={messages.endOthers}
            about=""
            title={messages.endOthersTitle}
            kind="plain"
            onConfirm={endOthers}
          >
            {messages.endOthersEffect}
          </ConfirmButton>
        </div>
      )}
    </>
  )
}

function SessionItem({ session, isCurrent }: { session: SignInSession; isCurrent: boolean }) {
  const queries = useQueryClient()
  const name = browserName(session.userAgent)

  async function end(): Promise<void> {
    await profile.endSession(session.token)
    await queries.invalidateQueries(sessionsQuery)
  }

  return (
    <ListItem
      title={isCurrent ? messages.current(name) : name}
      action={
        !isCurrent && (
          <ConfirmButton
            label={messages.end}
            about={messages.endAbout(name)}
            title={messages.endTitle}
            onConfirm={end}
          >
            {messages.endEffect(name)}
          </ConfirmButton>
        )
      }
    >
      {session.ipAddress && (
        <>
          <AddressLink address={session.ipAddress} /> ·{' '}
        </>
      )}
      {isCurrent ? (
        messages.inUse
      ) : (
        <>
          {messages.lastUsed} <Ago at={session.updatedAt} />
        </>
      )}
    </ListItem>
  )
}
