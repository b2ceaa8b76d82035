import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { PaginationLinks } from '../../ui/navigation/pagination.tsx'
import { LetterText } from '../../ui/text/letter.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { mailsQuery, mailTextQuery, type AbuseMail } from './api.ts'
import { abuseMails as messages } from './messages.ts'

const TONES: Record<AbuseMail['state'], Tone> = {
  waiting: 'info',
  sending: 'info',
  sent: 'good',
  skipped: 'unknown',
  failed: 'bad',
  uncertain: 'unknown',
}

/** The emails of a workspace, and the text of the one that is opened. */
export function MailTable() {
  const [page, setPage] = useState(1)
  const [shown, setShown] = useState<string | null>(null)
  const { data } = useQuery(mailsQuery(page))
  if (!data) return null
  return (
    <Section title={messages.sent}>
      {data.mails.length === 0 && <Muted>{messages.empty}</Muted>}
      {data.mails.length > 0 && (
        <Table quiet caption={messages.sent} columns={[...messages.columns]}>
          {data.mails.map((mail) => (
            <MailRow
              key={mail.id}
              mail={mail}
              isShown={mail.id === shown}
              onShow={() => setShown(mail.id === shown ? null : mail.id)}
            />
          ))}
        </Table>
      )}
      <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
      {shown !== null && <MailText id={shown} />}
    </Section>
  )
}

type MailRowProps = { mail: AbuseMail; isShown: boolean; onShow: () => void }

function MailRow({ mail, isShown, onShow }: MailRowProps) {
  const { recipient, addresses, network, day, state, reason, isTest } = mail
  return (
    <tr>
      <th scope="row">
        {recipient}
        <small>{messages.about(addresses, network)}</small>
      </th>
      <td>{day}</td>
      <td>
        <Status tone={TONES[state]}>{messages.states[state]}</Status>
        {(reason || isTest) && <small>{reason || messages.test}</small>}
      </td>
      <td>
        <Button size="small" kind="quiet" onClick={onShow}>
          {isShown ? messages.hide : messages.show}{' '}
          <VisuallyHidden>{messages.of(recipient)}</VisuallyHidden>
        </Button>
      </td>
    </tr>
  )
}

/** What is sent, except for the recipient’s link: the text, and the parts for programs. */
function MailText({ id }: { id: string }) {
  const { data } = useQuery(mailTextQuery(id))
  if (!data) return <Loading lines={4}>{messages.loading}</Loading>
  return (
    <>
      <LetterText
        what={messages.what}
        head={[
          [messages.head.to, data.to],
          [messages.head.subject, data.subject],
        ]}
        text={data.text}
      />
      {data.attachments.map(({ filename, content }) => (
        <LetterText key={filename} what={filename} text={content} />
      ))}
    </>
  )
}
