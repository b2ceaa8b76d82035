import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { mailCredentialsQuery } from '../imap/credentials.ts'
import { Button } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Row, Section, Stack } from '../ui/layout/page.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { isLinkOpen, migrations, ownerLinksQuery, type Migration, type Side } from './api.ts'
import { owners as messages } from './messages.ts'
import { OwnerLinkState } from './owner-link-state.tsx'

/** The links of the owners for whom a migration waits. */
export function OwnerSection({ migration }: { migration: Migration }) {
  const { data: credentials } = useQuery(mailCredentialsQuery)
  const sides = [
    { side: 'source', user: migration.srcUser, signIn: migration.srcSignIn },
    { side: 'destination', user: migration.dstUser, signIn: migration.dstSignIn },
  ] as const
  // Permissions of owners are not in the list: only they can renew them.
  const waiting = sides.filter(
    ({ signIn: { waitsForOwner, byOwner, credentialId } }) =>
      waitsForOwner ||
      (byOwner &&
        credentials !== undefined &&
        credentialId !== null &&
        !credentials.some(({ id }) => id === credentialId)),
  )
  if (waiting.length === 0) return null
  return (
    <Section title={messages.title}>
      <Muted>{messages.text}</Muted>
      {waiting.map(({ side, user }) => (
        <SideLink key={side} id={migration.migrationId} side={side} user={user} />
      ))}
    </Section>
  )
}

function SideLink({ id, side, user }: { id: string; side: Side; user: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const { data: links = [] } = useQuery(ownerLinksQuery(id))
  const [url, setUrl] = useState('')
  const [problem, setProblem] = useState('')
  const own = links.filter((each) => each.side === side && each.state !== 'signed_in')
  const link = own.find(isLinkOpen) ?? own[0]

  async function run(action: () => Promise<string>): Promise<void> {
    setProblem('')
    try {
      setUrl(await action())
      await queries.invalidateQueries(ownerLinksQuery(id))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <Stack>
      <Row>
        <strong>{messages.of(messages.side[side], user)}</strong>
        {link ? <OwnerLinkState link={link} /> : <Muted>{messages.none}</Muted>}
        {link && isLinkOpen(link) && (
          <Muted>
            {messages.until} <DateText at={link.expiresAt} />
          </Muted>
        )}
      </Row>
      <Row>
        <Button
          {...access}
          size="small"
          {...(!(link && isLinkOpen(link)) && { kind: 'primary' as const })}
          onClick={() => void run(async () => (await migrations.createLink(id, side)).url)}
        >
          {link ? messages.again : messages.create}
        </Button>
        {link && isLinkOpen(link) && (
          <Button
            {...access}
            size="small"
            kind="quiet"
            onClick={() =>
              void run(async () => {
                await migrations.revokeLink(link.id)
                return ''
              })
            }
          >
            {messages.revoke}
          </Button>
        )}
      </Row>
      {url && (
        <>
          <Snippet what={messages.url} text={url} />
          <Muted>{messages.once}</Muted>
        </>
      )}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}
