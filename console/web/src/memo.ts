import { Component, type ComponentType, h } from "preact";

/** memo renders again only when a property is another one. */
export function memo<P extends object>(of: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    shouldComponentUpdate(next: P): boolean {
      const old = this.props as Record<string, unknown>;
      return Object.entries(next).some(([k, v]) => (k === "entry" ? !alike(old[k], v) : k !== "actions" && old[k] !== v));
    }
    render() {
      return h(of, this.props as P);
    }
  };
}

/** alike compares two flat values field by field; a transcript is read anew as a whole. */
function alike(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
