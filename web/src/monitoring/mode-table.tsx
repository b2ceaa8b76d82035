import { useState } from 'react'
import { Choice } from '../ui/forms/choice.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Row, Muted, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { MonitoredList, ListMode } from './api.ts'
import { useAccess } from '../workspaces/roles.ts'
import { MODE_NAMES, modes as messages } from './messages.ts'

type ModeTableProps = {
  caption: string
  lists: MonitoredList[]
  /** The mode set here for a list; undefined where the default applies. */
  chosen: (list: MonitoredList) => ListMode | undefined
  /** Name of the default for a list. */
  otherwise: (list: MonitoredList) => string
  onChoose: (list: MonitoredList, mode: ListMode | undefined) => void
}

const CHOICES = Object.entries(MODE_NAMES).map(([value, name]) => ({
  value: value as ListMode | 'default',
  name,
}))

/** The mode of each blocklist. */
export function ModeTable({ caption, lists, chosen, otherwise, onChoose }: ModeTableProps) {
  const access = useAccess()
  const [text, setText] = useState('')
  const found = lists.filter(({ name, dnsbl, category }) =>
    `${name} ${dnsbl} ${category}`.toLowerCase().includes(text.toLowerCase()),
  )
  return (
    <Stack>
      <Row>
        <FilterField label={messages.filter} value={text} onFilter={setText} />
        <Muted>{messages.count(found.length)}</Muted>
      </Row>
      <Table caption={caption} quiet columns={messages.columns}>
        {found.map((list) => (
          <tr key={list.dnsbl}>
            <th scope="row">
              {list.name}
              <small>{list.dnsbl}</small>
            </th>
            <td>
              <Muted>{list.category}</Muted>
            </td>
            <td>
              <Choice
                {...access}
                label={messages.listingOn(list.name)}
                choices={[{ value: 'default', name: otherwise(list) }, ...CHOICES]}
                value={chosen(list) ?? 'default'}
                onChange={(value) => onChoose(list, value === 'default' ? undefined : value)}
              />
            </td>
          </tr>
        ))}
      </Table>
    </Stack>
  )
}
