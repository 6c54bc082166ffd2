// Elements are made one by one, and text is only ever the text of a node: nothing here parses HTML.
import { visible } from "./text.js";

/** An element with these attributes (functions are listeners) and children (elements, or text to show). */
export const el = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);

/** The same in a picture. */
export const svg = (name, attributes, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

function filled(node, attributes = {}, children = []) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, key === "d" ? value : visible(value, 2000)); // a path is ours, and long
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined).map(child));
  return node;
}

const child = (each) => (each instanceof Node ? each : visible(each, 2000));

/** Text of the cluster's, apart from what is around it whatever its direction. */
export const told = (text, longest) => el("bdi", {}, visible(text, longest));
