import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { PaginationLinks } from '../../ui/navigation/pagination.tsx'
import { DateText } from '../../ui/text/date-text.tsx'
import { abuseMails, ABUSE_MAILS_KEY, optOutsQuery, type OptOut } from './api.ts'
import { optOuts as messages } from './messages.ts'

/** For administrators: the addresses that never get reports by email. */
export function OptOutList() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(optOutsQuery(page))
  return (
    <>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <NewOptOutForm />
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data?.optOuts.length === 0 && <Muted>{messages.empty}</Muted>}
      {data && data.optOuts.length > 0 && (
        <List>
          {data.optOuts.map((optOut) => (
            <OptOutItem key={optOut.id} optOut={optOut} />
          ))}
        </List>
      )}
      {data && (
        <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
      )}
    </>
  )
}

function NewOptOutForm() {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ email = '' }: Record<string, string>): Promise<void> {
    await abuseMails.addOptOut(email.trim())
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey: ABUSE_MAILS_KEY })
  }

  return (
    <Form key={added} onSubmit={add} submit={messages.add}>
      <TextField
        name="email"
        autoComplete="on"
        type="email"
        label={messages.email}
        placeholder="abuse@example.net"
      />
    </Form>
  )
}

function OptOutItem({ optOut: { id, email, source, createdAt } }: { optOut: OptOut }) {
  const queries = useQueryClient()
  const name = email ?? messages.unknown(id)

  async function remove(): Promise<void> {
    await abuseMails.removeOptOut(id)
    await queries.invalidateQueries({ queryKey: ABUSE_MAILS_KEY })
  }

  return (
    <ListItem
      title={name}
      action={
        <ConfirmButton
          label={messages.remove}
          about={name}
          title={messages.removeTitle(name)}
          onConfirm={remove}
        >
          {messages.removeText}
        </ConfirmButton>
      }
    >
      {messages.sources[source]} · <DateText at={createdAt} />
    </ListItem>
  )
}
