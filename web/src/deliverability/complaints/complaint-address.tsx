import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Card, Muted, Stack } from '../../ui/layout/page.tsx'
import { BulletList } from '../../ui/lists/bullet-list.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { complaintAddress, type ComplaintAddress, type ComplaintSummary } from './api.ts'
import { complaints as messages } from './messages.ts'

/** The address for complaints, and where to enter it; without one, a button that creates it. */
export function ComplaintAddressCard({ summary }: { summary: ComplaintSummary }) {
  const { address, mailboxes } = summary
  return (
    <Card>
      <Stack>
        <p>{messages.lead}</p>
        {address === null ? <NewAddress /> : <Address address={address} mailboxes={mailboxes} />}
      </Stack>
    </Card>
  )
}

function NewAddress() {
  const access = useAccess()
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')

  async function create(): Promise<void> {
    setBusy(true)
    setProblem('')
    try {
      await complaintAddress.create()
      await queries.invalidateQueries({ queryKey: ['complaints'] })
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <div>
        <Button {...access} busy={isBusy} onClick={() => void create()}>
          {messages.create}
        </Button>
      </div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}

function Address({
  address: given,
  mailboxes,
}: {
  address: ComplaintAddress
  mailboxes: string[]
}) {
  const access = useAccess()
  const queries = useQueryClient()
  const { address } = given
  return (
    <>
      {address === null ? (
        <p>
          {messages.noAddress}{' '}
          {mailboxes.length === 0 && <Link to="/dmarc/mailboxes">{messages.noMailbox}</Link>}
        </p>
      ) : (
        <>
          <Snippet text={address} what={messages.address} />
          <p>{messages.enroll}</p>
        </>
      )}
      <BulletList>
        {messages.loops.map(({ name, url }) => (
          <li key={url}>
            <a href={url} target="_blank" rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </BulletList>
      {mailboxes.length > 0 && (
        <p>
          <Muted>{messages.mailboxes(mailboxes)}</Muted>
        </p>
      )}
      <OtherMail address={given} />
      <div>
        <ConfirmButton
          label={messages.remove}
          about={address ?? ''}
          title={messages.removing}
          {...access}
          onConfirm={async () => {
            await complaintAddress.remove()
            await queries.invalidateQueries({ queryKey: ['complaints'] })
          }}
        >
          <p>{messages.removingText}</p>
        </ConfirmButton>
      </div>
    </>
  )
}

/** The latest mail that was no complaint: a provider asks to confirm the address. */
function OtherMail({ address }: { address: ComplaintAddress }) {
  const { otherMails, otherFrom, otherSubject, otherAt } = address
  if (otherAt === null) return null
  return (
    <p>
      {messages.other(otherMails)} {messages.otherFrom(otherFrom, otherSubject)}{' '}
      <Ago at={otherAt} />
    </p>
  )
}
