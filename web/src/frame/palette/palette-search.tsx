import {
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react'
import { useOpenTarget } from '../../check/open-target.ts'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { Icon } from '../../ui/brand/icons.tsx'
import { Shortcut } from '../../ui/actions/shortcut.tsx'
import { findItems, type PaletteItem } from './palette-items.ts'
import { PaletteField } from './palette-field.tsx'
import classes from './palette-search.module.css'
import { usePaletteItems } from './use-palette-items.ts'
import { palette as messages } from '../messages.ts'

export type PaletteSearchProps = {
  /** What was typed before the search was loaded, and whether Enter followed. */
  typed: RefObject<{ text: string; isEntered: boolean }>
  onDone: () => void
}

/** One field for everything: the name of a screen or an object, or a target to check. */
export function PaletteSearch({ typed, onDone }: PaletteSearchProps) {
  const list = useId()
  const [text, setText] = useState('')
  const [isEntered, setEntered] = useState(false)
  // In an effect: characters may be typed while this is rendered.
  useLayoutEffect(() => {
    setText(typed.current.text)
    setEntered(typed.current.isEntered)
  }, [typed])
  const [at, setAt] = useState(0)
  const found = findItems(text, usePaletteItems(text), useOpenTarget())

  function go(find: PaletteItem | undefined): void {
    if (!find) return
    onDone()
    find.open()
  }
  const goEarly = useEffectEvent(() => {
    setEntered(false)
    go(found[at])
  })
  useEffect(() => {
    if (isEntered) goEarly()
  }, [isEntered])
  function press(event: KeyboardEvent): void {
    const last = found.length - 1
    const to = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key]
    if (to !== undefined) setAt(to)
    else if (event.key === 'Enter') go(found[at])
    else return
    event.preventDefault()
  }

  return (
    <>
      <PaletteField
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found[at] && `${list}-${at}`}
        aria-autocomplete="list"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <ul id={list} role="listbox" aria-label={messages.results} className={classes.finds}>
        {found.map((find, index) => (
          <li
            key={find.id ?? `${find.kind} ${find.name}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            className={classes.find}
            onClick={() => go(find)}
            onPointerMove={() => setAt(index)}
          >
            <Icon name={find.icon} />
            <span className={classes.name}>{find.name}</span>
            <small>{find.kind}</small>
            {find.shortcut && <Shortcut keys={find.shortcut} />}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className={classes.nothing}>{messages.noResults(text)}</p>}
      <div role="status">
        <VisuallyHidden>{text && messages.resultCount(found.length)}</VisuallyHidden>
      </div>
    </>
  )
}
