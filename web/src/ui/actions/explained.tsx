import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import classes from './explained.module.css'

/** Attributes of a control that is disabled but can take the focus, so that its reason is found. */
export type Described = { 'aria-disabled': true; 'aria-describedby': string }

type ExplainedProps = {
  /** Why the control is disabled. */
  reason: string
  children: (described: Described) => ReactNode
}

/** Pixels between the control, its reason and the edges of the window. */
const GAP = 6

/** Shows the reason why a control is disabled, on hover, focus and touch. */
export function Explained({ reason, children }: ExplainedProps) {
  const id = useId()
  const tip = useRef<HTMLSpanElement>(null)
  const anchor = useRef<HTMLSpanElement>(null)

  function show(): void {
    if (!tip.current || !anchor.current) return
    tip.current.showPopover()
    const at = anchor.current.getBoundingClientRect()
    const { width, height } = tip.current.getBoundingClientRect()
    const hasRoomAbove = at.top > height + 2 * GAP
    const left = Math.min(at.left, window.innerWidth - width - GAP)
    tip.current.style.left = `${Math.max(GAP, left)}px`
    tip.current.style.top = `${hasRoomAbove ? at.top - height - GAP : at.bottom + GAP}px`
  }
  const hide = () => tip.current?.hidePopover()

  return (
    <span
      ref={anchor}
      className={classes.anchor}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onClick={show}
      onKeyDown={({ key }: KeyboardEvent) => key === 'Escape' && hide()}
    >
      {children({ 'aria-disabled': true, 'aria-describedby': id })}
      <span ref={tip} id={id} role="tooltip" popover="manual" className={classes.tip}>
        {reason}
      </span>
    </span>
  )
}
