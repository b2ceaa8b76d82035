import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Ago } from '../ui/text/ago.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { profile, sessionsQuery, type Session } from './api.ts'
import { browserName } from './browser-name.ts'

/** Where the person is signed in, and how to end that from here. */
export function Sessions() {
  const queries = useQueryClient()
  const { data, error } = useQuery(sessionsQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Loading lines={2}>Fetching your sessions …</Loading>

  async function endOthers(): Promise<void> {
    await profile.endOtherSessions()
    await queries.invalidateQueries(sessionsQuery)
  }

  return (
    <>
      <List>
        {data.sessions.map((session) => (
          <SessionItem key={session.token} session={session} isCurrent={session.token === data.current} />
        ))}
      </List>
      {data.sessions.length > 1 && (
        <div>
          <ConfirmButton
            label="End all others"
            about="sessions"
            title="End all other sessions?"
            kind="plain"
            keep="Keep them"
            onConfirm={endOthers}
          >
            Whoever uses them has to sign in again. API tokens are not touched.
          </ConfirmButton>
        </div>
      )}
    </>
  )
}

function SessionItem({ session, isCurrent }: { session: Session; isCurrent: boolean }) {
  const queries = useQueryClient()
  const name = browserName(session.userAgent)

  async function end(): Promise<void> {
    await profile.endSession(session.token)
    await queries.invalidateQueries(sessionsQuery)
  }

  return (
    <ListItem
      title={isCurrent ? `${name} (this browser)` : name}
      action={
        !isCurrent && (
          <ConfirmButton label="End" about={`the session of ${name}`} title="End this session?" onConfirm={end}>
            {name} has to sign in again.
          </ConfirmButton>
        )
      }
    >
      {session.ipAddress && `${session.ipAddress} · `}last used <Ago at={session.updatedAt} />
    </ListItem>
  )
}
