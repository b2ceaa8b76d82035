import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Form, SelectField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { attacks, rangesQuery, type NewRange, type Range, type RangeList } from './api.ts'
import { ranges as messages } from './messages.ts'
import { NetworkFields } from './network-form.tsx'

type RangeSectionProps = { list: RangeList; title: string; text: string; empty: string }

/** Ranges of addresses that count differently, with a form that adds one. */
export function RangeSection({ list, title, text, empty }: RangeSectionProps) {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(rangesQuery(list, page))
  return (
    <Section title={title}>
      <p>
        <Muted>{text}</Muted>
      </p>
      <NewRangeForm list={list} />
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data?.ranges.length === 0 && <Muted>{empty}</Muted>}
      {data && data.ranges.length > 0 && (
        <List>
          {data.ranges.map((range) => (
            <RangeItem key={range.id} list={list} range={range} />
          ))}
        </List>
      )}
      {data && (
        <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
      )}
    </Section>
  )
}

const KINDS = (['whitelist', 'canary', 'shared'] as const satisfies NewRange['kind'][]).map(
  (value) => ({
    value,
    label: messages.effects[value],
  }),
)

function NewRangeForm({ list }: { list: RangeList }) {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ cidr = '', label = '', kind }: Record<string, string>): Promise<void> {
    const range = {
      cidr: cidr.trim(),
      label: label.trim(),
      ...(kind && { kind: kind as NewRange['kind'] }),
    }
    await attacks.addRange(list, range)
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <Form
      key={added}
      onSubmit={add}
      submit={list === 'sensors' ? messages.addSensor : messages.addRange}
    >
      <NetworkFields messages={messages} />
      {list === 'whitelist' && <SelectField name="kind" label={messages.kind} choices={KINDS} />}
    </Form>
  )
}

function RangeItem({
  list,
  range: { id, cidr, label, kind, createdAt },
}: {
  list: RangeList
  range: Range
}) {
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await attacks.removeRange(list, id)
    await queries.invalidateQueries({ queryKey: ['attacks'] })
  }

  return (
    <ListItem
      title={<code>{cidr}</code>}
      action={
        <ConfirmButton
          label={messages.remove}
          about={cidr}
          title={messages.removeTitle(cidr)}
          onConfirm={remove}
        >
          {messages.removeText}
        </ConfirmButton>
      }
    >
      {[label, messages.kinds[kind]].filter(Boolean).join(' · ')} · {messages.added}{' '}
      <DateText at={createdAt} />
    </ListItem>
  )
}
