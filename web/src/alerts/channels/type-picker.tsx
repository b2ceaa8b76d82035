import { Link, useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { Empty } from '../../ui/feedback/empty.tsx'
import { SearchBox } from '../../ui/forms/search-box.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { AlertChannelType } from '../api.ts'
import { picker as messages } from './messages.ts'
import { groupTypes, searchTypes, type TypeGroup } from './search-types.ts'
import classes from './type-picker.module.css'

/** The services by group, with a search. Enter opens the one whose name begins so, or the first one found. */
export function TypePicker({ types }: { types: AlertChannelType[] }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const found = searchTypes(types, text)
  const groups = groupTypes(found)

  function openFirst(): void {
    const typed = text.trim().toLowerCase()
    const named = found.find(({ name }) => name.toLowerCase().startsWith(typed))
    const first = named ?? groups[0]?.types[0]
    if (first && typed !== '')
      void navigate({ to: '/alerts/channels/new/$type', params: { type: first.id } })
  }

  return (
    <>
      <div className={classes.search}>
        <SearchBox
          name="service"
          label={messages.search}
          hint={messages.searchHint}
          onType={setText}
          onEnter={openFirst}
        />
        <div role="status">
          <Muted>{messages.found(found.length)}</Muted>
        </div>
      </div>
      {groups.map((group) => (
        <Group key={group.group} {...group} />
      ))}
      {found.length === 0 && (
        <Empty icon="search" title={messages.none(text.trim())}>
          <p>
            <Muted>{messages.noneHint}</Muted>
          </p>
        </Empty>
      )}
    </>
  )
}

function Group({ group, types }: TypeGroup) {
  const heading = useId()
  return (
    <section id={group} aria-labelledby={heading} className={classes.group}>
      <h2 id={heading}>{messages.groups[group].name}</h2>
      <ul className={classes.types} data-rows>
        {types.map(({ id, name }) => (
          <li key={id}>
            <Link to="/alerts/channels/new/$type" params={{ type: id }} className={classes.type}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
